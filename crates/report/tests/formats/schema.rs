//! A reader of JSON Schema, as far as ours go: types, properties, lists, values, references within the file.

use serde_json::Value;

/// What of a value does not fit a schema, each with its path. Stricter than a reader has to be: a property that the schema does
/// not name is wrong unless it allows others.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    check(schema, schema, value, "$", &mut wrong);
    wrong
}

/// Keywords that are looked at, or say nothing about values. Another one would be ignored silently.
const KNOWN: [&str; 17] = [
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "enum",
    "const",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minItems",
    "minimum",
    "minLength",
    "anyOf",
];

fn check(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else { return };
    for keyword in rules.keys().filter(|keyword| !KNOWN.contains(&keyword.as_str())) {
        wrong.push(format!("{path}: the schema says `{keyword}`, which nobody looks at"));
    }
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
        assert!(target.is_object(), "the schema has no {name}");
        check(root, target, value, path, wrong);
    }
    if let Some(types) = rules.get("type") {
        let types: Vec<&str> = types.as_str().into_iter().chain(list(types).iter().filter_map(Value::as_str)).collect();
        if !types.iter().any(|name| is(value, name)) {
            wrong.push(format!("{path}: {value} is no {}", types.join(" or ")));
        }
    }
    let (allowed, exact) = (rules.get("enum"), rules.get("const"));
    if allowed.is_some_and(|all| !list(all).contains(value)) || exact.is_some_and(|exact| exact != value) {
        wrong.push(format!("{path}: {value} is not allowed"));
    }
    if rules.get("minimum").and_then(Value::as_f64).zip(value.as_f64()).is_some_and(|(least, number)| number < least) {
        wrong.push(format!("{path}: {value} is too small"));
    }
    if let (Some(least), Some(text)) = (rules.get("minLength").and_then(Value::as_u64), value.as_str())
        && (text.len() as u64) < least
    {
        wrong.push(format!("{path}: the text is too short"));
    }
    let options = list(&schema["anyOf"]);
    if !options.is_empty() && !options.iter().any(|option| fits(root, option, value)) {
        wrong.push(format!("{path}: {value} fits none"));
    }
    members(root, schema, value, path, wrong);
}

fn fits(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut wrong = Vec::new();
    check(root, schema, value, "", &mut wrong);
    wrong.is_empty()
}

/// What is inside of a list or an object.
fn members(root: &Value, schema: &Value, value: &Value, path: &str, wrong: &mut Vec<String>) {
    for (index, item) in list(value).iter().enumerate() {
        check(root, &schema["items"], item, &format!("{path}[{index}]"), wrong);
    }
    if schema["minItems"].as_u64().is_some_and(|least| value.is_array() && (list(value).len() as u64) < least) {
        wrong.push(format!("{path}: too few items"));
    }
    let Some(object) = value.as_object() else { return };
    for key in list(&schema["required"]).iter().filter_map(Value::as_str).filter(|key| !object.contains_key(*key)) {
        wrong.push(format!("{path}: `{key}` is missing"));
    }
    for (key, inner) in object {
        let place = format!("{path}.{key}");
        match schema["properties"].get(key) {
            Some(rules) => check(root, rules, inner, &place, wrong),
            None if schema["additionalProperties"].is_object() => {
                check(root, &schema["additionalProperties"], inner, &place, wrong);
            }
            None if schema.get("properties").is_some() => wrong.push(format!("{place} is not in the schema")),
            None => {}
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type is called {other}"),
    }
}

//! Where things stand and what they start with.

use crate::ir::{Assign, Expr, Model, Place, Scalar, Variable};
use crate::lower::{lower, lower_ltl, lower_with_names};
use crate::parse::{ParseOptions, parse_ltl, parse_text};

fn model(text: &str) -> Model {
    let parsed = parse_text("m.pml", text, &ParseOptions::default()).unwrap_or_else(|told| panic!("{told:?}"));
    lower(&parsed.program, &parsed.sources).unwrap_or_else(|told| panic!("{told:?}")).0
}

/// `name@offset`, with the type for what is not a byte.
fn places(variables: &[Variable]) -> Vec<String> {
    let place = |variable: &Variable| {
        let length = variable.length.map_or(String::new(), |length| format!("[{length}]"));
        match variable.scalar {
            Scalar::Byte => format!("{}{length}@{}", variable.name, variable.offset),
            scalar => format!("{}{length}@{}:{scalar:?}", variable.name, variable.offset),
        }
    };
    variables.iter().map(place).collect()
}

/// `offset=value` for constants.
fn values(assigns: &[Assign]) -> Vec<String> {
    let value = |assign: &Assign| {
        let Assign { place: Place { offset, .. }, value } = assign;
        match value {
            Expr::Constant(value) => format!("{offset}={value}"),
            _ => format!("{offset}=.."),
        }
    };
    assigns.iter().map(value).collect()
}

#[test]
fn globals_stand_one_after_the_other_and_structures_are_flattened() {
    let model = model(
        "typedef R { byte a = 7; short s[2]; bit b[3] };
         bit x = 1; unsigned u : 9; R r[2]; int i[3] = { 4, 5 }; chan q = [2] of { bit, R }; init { r[1].a = 1 }",
    );
    assert_eq!(
        places(&model.globals),
        [
            "x@2:Bit",
            "u@3:Unsigned(9)",
            "r[0].a@5",
            "r[0].s[2]@6:Short",
            "r[0].b[3]@10",
            "r[1].a@13",
            "r[1].s[2]@14:Short",
            "r[1].b[3]@18",
            "i[3]@21:Int"
        ]
    );
    // The last value of a list is that of all further elements.
    assert_eq!(values(&model.initialisers), ["2=1", "5=7", "13=7", "21=4", "25=5", "29=5"]);
    // A channel that is never assigned to needs no variable; a message is flattened, its bits are bytes.
    assert_eq!(model.channels[0].offset, 33);
    assert_eq!(model.channels[0].message_size(), 1 + 1 + 4 + 3);
    assert_eq!(model.globals_size, 33 + model.channels[0].body_size());
}

#[test]
fn a_channel_variable_that_changes_is_a_byte_that_starts_with_the_id() {
    let model = model("chan p = [1] of { byte }; chan q[2] = [0] of { chan }; init { q[0]?p; q[1]!p }");
    assert_eq!(places(&model.globals), ["p@2"]);
    assert_eq!(values(&model.initialisers), ["2=1"]);
    let names: Vec<&str> = model.channels.iter().map(|channel| &*channel.name).collect();
    assert_eq!(names, ["p", "q[0]", "q[1]"]);
    assert!(model.features.rendezvous);
}

#[test]
fn a_frame_holds_header_parameters_locals_and_channels() {
    let model = model(
        "proctype P(byte a; short b) { byte c = a; chan q[2] = [1] of { byte }; skip; int d; d = 1 }
         init { run P(1, 2) }",
    );
    let proctype = &model.proctypes[0];
    assert_eq!(places(&proctype.locals), ["a@2", "b@3:Short", "c@5", "q[2]@6", "d@8:Int"]);
    assert_eq!(proctype.parameters, 2);
    assert_eq!(values(&proctype.initialisers), ["5=.."]);
    let channels: Vec<_> =
        proctype.channels.iter().map(|one| (one.offset, one.variable.as_ref().map(|v| v.offset))).collect();
    assert_eq!(channels, [(12, Some(6)), (14, Some(7))]);
    assert_eq!(proctype.frame_size, 16);
}

#[test]
fn mtype_constants_count_from_the_end_of_each_list() {
    let model = model("mtype = { a, b }; mtype = { c, d }; mtype:fruit = { kiwi }; init { skip }");
    let numbered: Vec<String> = model.mtypes.iter().map(|(set, name, value)| format!("{set}{name}={value}")).collect();
    assert_eq!(numbered, ["b=1", "a=2", "d=3", "c=4", "fruitkiwi=1"]);
}

#[test]
fn a_formula_given_later_is_lowered_against_the_names_of_the_model() {
    let text = "byte x; active proctype P() { L: x = 1; goto L }";
    let parsed = parse_text("m.pml", text, &ParseOptions::default()).unwrap_or_else(|told| panic!("{told:?}"));
    let lowered = lower_with_names(&parsed.program, &parsed.sources).unwrap_or_else(|told| panic!("{told:?}"));
    let formula = |text: &str| parse_ltl(text, &parsed).unwrap_or_else(|told| panic!("{told:?}")).value;
    let claim =
        lower_ltl(&lowered.names, &formula("[] (x == 1 -> <> P@L) && [] (x == 1)")).expect("a formula that fits");
    let crate::ir::ClaimKind::Ltl { texts, .. } = claim else { panic!("not a formula") };
    assert_eq!(texts, ["(x==1)", "P@L"]);
    assert!(lower_ltl(&lowered.names, &formula("[] (_last == 0)")).is_err(), "states of the model do not hold `_last`");
}

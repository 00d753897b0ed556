// Whether a log fits the schema of SARIF 2.1.0: node sarif.mjs MODULES < LOG. Prints what does not, and ends with 1.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [modules] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const Ajv = require("ajv");
const read = path => JSON.parse(readFileSync(path, "utf8"));

const ajv = new Ajv({ schemaId: "auto", allErrors: true, unknownFormats: "ignore" });
ajv.addMetaSchema(read(`${modules}/node_modules/ajv/lib/refs/json-schema-draft-04.json`));
const fits = ajv.compile(read(`${modules}/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json`));
if (!fits(JSON.parse(readFileSync(0, "utf8")))) {
  console.log(ajv.errorsText(fits.errors, { separator: "\n" }));
  process.exit(1);
}

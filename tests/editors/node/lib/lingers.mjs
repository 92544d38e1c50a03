// A command of the tests: it and its child hold a connection to the port until they end.
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

const [port, child] = process.argv.slice(2);
if (child !== "child") {
  spawn(process.execPath, [fileURLToPath(import.meta.url), port, "child"], { stdio: "inherit" });
}
connect(Number(port), "127.0.0.1").resume();
setInterval(() => {}, 1_000_000);

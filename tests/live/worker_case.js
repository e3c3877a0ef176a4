/* Does in Node what the worker of a live page does in a browser, for tests: reads {wasm, varied (base64), shape, walk, module, newton, worker, orders}
   and prints the last answer to every order; an order with `from: "gait"` takes the gait that the order before it found. */
const fs = require("fs"), vm = require("vm"), order = JSON.parse(fs.readFileSync(0, "utf8"));
let hear = null;
globalThis.postMessage = news => { if (news.fault || news.gait !== undefined && news.kind === "gait" || news.done === 1) hear(news); };
vm.runInThisContext(order.module + order.newton + order.worker);
const bytes = text => text && Buffer.from(text, "base64");
(async () => {
  onmessage({ data: { kind: "open", machine: bytes(order.wasm), varied: bytes(order.varied), shape: order.shape, walk: order.walk } });
  const answers = [];
  let gait = null, number = 0;
  for (const each of order.orders) {
    const answer = await new Promise(done => { hear = done; onmessage({ data: { ...each, number: ++number, gait: each.from === "gait" ? gait : null } }); });
    if (each.kind === "gait") gait = answer.gait;
    answers.push(answer);
  }
  process.stdout.write(JSON.stringify(answers), () => process.exit(0));
})();

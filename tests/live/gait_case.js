/* Finds a gait in Node with the scripts of a live page, for tests: reads {wasm (base64), shape, p, module, newton} and prints the gait. */
const fs = require("fs"), vm = require("vm"), order = JSON.parse(fs.readFileSync(0, "utf8"));
vm.runInThisContext(order.module + order.newton + ";globalThis.tools = { strutModule, strutReturnMap, strutNewton, strutAlgebra };");
(async () => {
  if (order.matrix) { console.log(JSON.stringify({ values: tools.strutAlgebra.eigenvalues(order.matrix), singular: tools.strutAlgebra.svd(order.matrix).s })); return; }
  const varied = await tools.strutModule(Buffer.from(order.wasm, "base64")), map = tools.strutReturnMap(varied, order.shape);
  map.begin(varied.p, varied.u);
  console.log(JSON.stringify(tools.strutNewton.find(map, null)));
})();

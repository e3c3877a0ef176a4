/* Draws a film in space, with three.js: a camera that turns, follows or stands, light and shadow. */
const strutSpace = (film, canvas, redraw) => {
  const T = THREE, size = film.size, vector = v => new T.Vector3(v[0], v[1], v[2]);
  /* Without a graphics card the processor draws, and frames come slowly: then there are no shadows and ever fewer pixels, until they keep up. Smooth edges can only be
     chosen at the beginning, where the browser says whether it has a card. */
  const THRIFT = [{ shadows: true, pixels: 2 }, { shadows: false, pixels: 1 }, { shadows: false, pixels: 0.5 }], SLOW_MS = 40, SLOW_FRAMES = 8;
  const hasCard = () => {
    const probe = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true }), about = probe && probe.getExtension("WEBGL_debug_renderer_info");
    const device = probe && String(probe.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : probe.RENDERER));
    if (probe) probe.getExtension("WEBGL_lose_context")?.loseContext();
    return !!probe && !/swiftshader|llvmpipe|softpipe|software/i.test(device);
  };
  const card = hasCard();
  const renderer = new T.WebGLRenderer({ canvas, antialias: card, preserveDrawingBuffer: true });
  let thrift = Number(canvas.dataset.thrift ?? 0), mean = 0, count = 0, drawn = 0;
  const saveTime = running => {  /* by the mean of the last frames of a film that runs; a page that was out of sight for seconds says nothing */
    const now = performance.now(), took = now - drawn;
    if (running && drawn && took < 3000) { mean = count ? mean + 0.2 * (took - mean) : took; count++; } else if (!running) count = 0;
    drawn = running ? now : 0;
    if (count < SLOW_FRAMES || mean < SLOW_MS || thrift + 1 === THRIFT.length) return;
    thrift++; count = 0;
    sun.castShadow = THRIFT[thrift].shadows;
    canvas.dataset.thrift = thrift;
    canvas.title = "Without shadows, and with fewer pixels: frames came slowly.";
  };
  renderer.shadowMap.enabled = true;
  const scene = new T.Scene();
  const lens = new T.PerspectiveCamera(30, 1, 0.01 * size, 400 * size);
  lens.up.set(0, 0, 1);
  const sun = new T.DirectionalLight(0xffffff, 2.2), reach = 2.5 * Math.max(size, ...film.window);
  sun.castShadow = THRIFT[thrift].shadows; sun.shadow.mapSize.set(2048, 2048); sun.shadow.bias = -0.0005; sun.shadow.normalBias = 0.01 * size;
  Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 6 * reach });
  scene.add(new T.HemisphereLight(0xffffff, 0xb8b2a8, 2.3), sun, sun.target);

  /* ---- ground ---- */
  if (film.land) {
    const { x, y, height } = film.land, places = [], uv = [], faces = [];
    y.forEach((v, j) => x.forEach((u, i) => { places.push(u, v, height[j * x.length + i]); uv.push(u / film.tick / 2, v / film.tick / 2); }));
    for (let j = 0; j + 1 < y.length; j++) for (let i = 0; i + 1 < x.length; i++) {
      const n = j * x.length + i, m = n + x.length;
      faces.push(n, n + 1, m, n + 1, m + 1, m);
    }
    const ground = new T.BufferGeometry();
    ground.setAttribute("position", new T.BufferAttribute(new Float32Array(places), 3));
    ground.setAttribute("uv", new T.BufferAttribute(new Float32Array(uv), 2));
    ground.setIndex(faces);
    const flat = ground.toNonIndexed();
    flat.computeVertexNormals();
    const tile = document.createElement("canvas"), pen = tile.getContext("2d");
    tile.width = tile.height = 256;
    pen.fillStyle = "#dde2e8"; pen.fillRect(0, 0, 256, 256);
    pen.fillStyle = "#c2cad3"; pen.fillRect(0, 0, 128, 128); pen.fillRect(128, 128, 128, 128);
    const paint = new T.CanvasTexture(tile);
    paint.wrapS = paint.wrapT = T.RepeatWrapping; paint.colorSpace = T.SRGBColorSpace; paint.anisotropy = card ? 8 : 1;
    const cloth = new T.MeshLambertMaterial({ map: paint, side: T.DoubleSide });
    const mesh = new T.Mesh(flat, cloth);
    mesh.receiveShadow = true;
    scene.add(mesh);
    scene.userData.ground = cloth;
  }

  /* ---- pieces ---- */
  const ball = new T.SphereGeometry(1, 32, 20), pipe = new T.CylinderGeometry(1, 1, 1, 32), open = new T.CylinderGeometry(1, 1, 1, 32, 1, true);
  const cube = new T.BoxGeometry(1, 1, 1), meshes = film.meshes.map(m => {
    const geometry = new T.BufferGeometry(), places = new Float32Array(m.vertices.count * 3);
    for (let k = 0; k < m.vertices.count; k++) places.set(m.vertices.row(k), 3 * k);
    geometry.setAttribute("position", new T.BufferAttribute(places, 3));
    geometry.setIndex(m.faces);
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
  });
  const band = v => {  /* a rolling foot: part of a ring in the x-z plane, some way along y */
    const r = v.radius[0], wide = v.width[0] || 0.08 * size, from = v.begin[0] - Math.PI / 2, to = v.finish[0] - Math.PI / 2;
    const shape = new T.Shape();
    shape.absarc(0, 0, r, from, to, false); shape.absarc(0, 0, 0.88 * r, to, from, true); shape.closePath();
    return new T.ExtrudeGeometry(shape, { depth: wide, bevelEnabled: false, curveSegments: 32 }).translate(0, 0, -wide / 2).rotateX(Math.PI / 2);
  };
  const upright = new T.Vector3(0, 1, 0), along = new T.Vector3(), turn = new T.Matrix4();
  const placed = (object, v) => {
    const R = v.rotation;
    turn.set(R[0], R[3], R[6], 0, R[1], R[4], R[7], 0, R[2], R[5], R[8], 0, 0, 0, 0, 1);
    object.quaternion.setFromRotationMatrix(turn).normalize();
    object.position.set(...v.at);
  };
  const build = (piece, ghost) => {
    const opacity = piece.opacity * (ghost ? 0.13 : 1);
    const cloth = new T.MeshStandardMaterial({ color: piece.colour, roughness: 0.55, metalness: 0.05, transparent: opacity < 1, opacity,
      side: piece.kind === "mesh" || piece.kind === "arc" ? T.DoubleSide : 0, depthWrite: opacity === 1 });
    const group = new T.Group(), part = geometry => {
      const mesh = new T.Mesh(geometry, cloth);
      mesh.castShadow = !ghost && opacity > 0.5; mesh.receiveShadow = !ghost;
      group.add(mesh);
      return mesh;
    };
    const rod = ends => {
      const middle = part(ends ? open : pipe), caps = ends ? [part(ball), part(ball)] : [];
      return v => {
        const a = vector(v.start), b = vector(v.end), r = Math.max(v.radius[0], 1e-4 * size), length = along.subVectors(b, a).length();
        middle.visible = length > 1e-9;
        middle.position.addVectors(a, b).multiplyScalar(0.5);
        if (length > 1e-9) middle.quaternion.setFromUnitVectors(upright, along.divideScalar(length));
        middle.scale.set(r, Math.max(length, 1e-9), r);
        caps.forEach((cap, i) => { cap.position.copy(i ? b : a); cap.scale.setScalar(r); });
      };
    };
    const whole = (geometry, stretch) => {
      const mesh = part(geometry);
      return v => { placed(mesh, v); const s = stretch(v); mesh.scale.set(...s); };
    };
    const move = {
      sphere: () => { const mesh = part(ball); return v => { mesh.position.set(...v.at); mesh.scale.setScalar(v.radius[0]); }; },
      capsule: () => rod(true),
      cylinder: () => rod(false),
      box: () => whole(cube, v => v.size),
      ellipsoid: () => whole(ball, v => v.radii),
      arc: () => whole(band(Object.fromEntries(Object.entries(piece.values).map(([n, c]) => [n, c.row(0)]))), () => [1, 1, 1]),
      mesh: () => whole(meshes[piece.mesh], v => film.meshes[piece.mesh].standIn ? [1, 1, 1] : v.scale),
    }[piece.kind]();
    if (film.planar && piece.side) group.position.y = piece.side * 0.03 * size;  /* side by side, not one within the other */
    scene.add(group);
    return { group, set: (k, a) => move(Object.fromEntries(Object.entries(piece.values).map(([n, c]) => [n, c.at(k, a)]))) };
  };
  const pieces = film.pieces.map(p => build(p, false));
  let ghosts = null;

  /* ---- joints ---- */
  const seen = (color, order) => Object.assign(new T.MeshBasicMaterial({ color, depthTest: false, transparent: true }), { order });  /* through the body */
  const pale = seen("#ffffff", 6), dark = seen("#1b1f24", 5), rod = seen("#E69F00", 7);
  const pivots = film.pivots.map(p => {
    const group = new T.Group(), r = 0.016 * size, put = (geometry, cloth, ...stretch) => {
      const mesh = new T.Mesh(geometry, cloth);
      mesh.renderOrder = cloth.order; mesh.scale.set(...stretch); group.add(mesh);
    };
    if (p.kind === "revolute") { put(pipe, dark, 1.25 * r, 0.9 * r, 1.25 * r); put(pipe, pale, r, r, r); put(pipe, rod, 0.35 * r, 6 * r, 0.35 * r); }
    else if (p.kind === "prismatic") { put(cube, dark, 2.3 * r, 3.9 * r, 2.3 * r); put(cube, pale, 1.8 * r, 3.4 * r, 1.8 * r); put(pipe, rod, 0.35 * r, 7 * r, 0.35 * r); }
    else { put(ball, dark, 1.25 * r, 1.25 * r, 1.25 * r); put(ball, pale, r, r, r); put(ball, rod, 0.35 * r, 0.35 * r, 0.35 * r); }
    scene.add(group);
    return (k, a) => {
      group.visible = film.shown("joints");
      group.position.set(...p.at.at(k, a));
      const d = vector(p.axis.at(k, a));
      if (d.length() > 1e-9) group.quaternion.setFromUnitVectors(upright, d.normalize());
    };
  });

  /* ---- forces, path and prints ---- */
  const green = new T.MeshBasicMaterial({ color: "#009E73", depthTest: false, transparent: true });  /* seen through the leg */
  const arrows = film.pushes.map(() => {
    const group = new T.Group(), shaft = new T.Mesh(pipe, green), head = new T.Mesh(new T.ConeGeometry(1, 1, 24), green), r = 0.012 * size;
    shaft.renderOrder = head.renderOrder = 8; group.add(shaft, head); scene.add(group);
    return (p, force) => {
      const d = vector(force).multiplyScalar(film.newton), length = d.length(), tip = Math.min(0.09 * size, length / 2);
      group.visible = length > 0.01 * size && film.shown("forces");
      if (!group.visible) return;
      group.position.set(...p);
      group.quaternion.setFromUnitVectors(upright, d.divideScalar(length));
      shaft.position.set(0, (length - tip) / 2, 0); shaft.scale.set(r, length - tip, r);
      head.position.set(0, length - tip / 2, 0); head.scale.set(2.6 * r, tip, 2.6 * r);
    };
  });
  const marks = film.prints.map(([time, ...p]) => {
    const mark = new T.Mesh(new T.CircleGeometry(0.03 * size, 24), new T.MeshBasicMaterial({ color: "#56606b", transparent: true, opacity: 0.75 }));
    mark.position.set(...p);
    if (film.land) {
      const { x, height } = film.land;
      let i = 0;
      while (i < x.length - 2 && x[i + 1] < p[0]) i++;
      mark.rotation.y = -Math.atan2(height[i + 1] - height[i], x[i + 1] - x[i]);
    }
    mark.position.z += 0.004 * size;
    mark.scale.set(1, 0.7, 1);
    scene.add(mark);
    return [time, mark];
  });
  let path = null, com = null;
  if (film.com) {
    const places = new Float32Array(film.com.count * 3);
    for (let k = 0; k < film.com.count; k++) places.set(film.com.row(k), 3 * k);
    path = new T.Line(new T.BufferGeometry().setAttribute("position", new T.BufferAttribute(places, 3)), new T.LineBasicMaterial({ color: "#CC79A7" }));
    path.frustumCulled = false;
    com = new T.Mesh(ball, new T.MeshBasicMaterial({ color: "#CC79A7", depthTest: false, transparent: true }));
    com.scale.setScalar(0.018 * size); com.renderOrder = 9;
    scene.add(path, com);
  }

  /* ---- camera ---- */
  const controls = new T.OrbitControls(lens, canvas), chosen = document.getElementById("camera"), views = document.getElementById("view");
  controls.enableDamping = false; controls.maxDistance = 60 * size; controls.minDistance = 0.2 * size;
  controls.addEventListener("change", () => { if (!busy) redraw(); });
  let busy = true, before = null;
  const look = name => {
    const target = vector(film.centre.at(...film.between(now))), wide = film.window, aspect = canvas.clientWidth / Math.max(1, canvas.clientHeight);
    const across = name === "front" ? wide[1] : Math.max(wide[0], name === "side" ? 0 : wide[1]), half = Math.tan(lens.fov * Math.PI / 360);
    const away = Math.max((name === "above" ? wide[1] : wide[2]) / 2 / half, across / 2 / half / aspect) + size / 4;
    const from = { side: [0, -1, 0.06], front: [1, 0, 0.06], above: [0, -0.001, 1], corner: [0.62, -0.95, 0.34] }[name];
    busy = true;
    controls.target.copy(target);
    lens.position.copy(target).addScaledVector(vector(from).normalize(), away);
    controls.update();
    busy = false;
  };
  views.onchange = () => { look(views.value); before = null; redraw(); };
  let now = film.t[0], first = true;
  return (time, running = false) => {
    now = time;
    saveTime(running);
    const [k, a] = film.between(now), middle = vector(film.centre.at(k, a));
    const width = canvas.clientWidth, height = canvas.clientHeight, ratio = Math.min(THRIFT[thrift].pixels, window.devicePixelRatio || 1);
    if (first || canvas.width !== Math.floor(width * ratio) || canvas.height !== Math.floor(height * ratio)) {
      renderer.setPixelRatio(ratio); renderer.setSize(width, height, false);
      lens.aspect = width / Math.max(1, height); lens.updateProjectionMatrix();
    }
    if (first) { first = false; look(views.value); }
    if (chosen.value === "follow" && before) {
      busy = true;
      const moved = middle.clone().sub(before);
      lens.position.add(moved); controls.target.add(moved); controls.update();
      busy = false;
    }
    before = middle;
    sun.target.position.copy(middle); sun.position.copy(middle).add(new T.Vector3(-0.9, -1.3, 2.6).multiplyScalar(reach));
    scene.background = new T.Color(film.color("--sky"));
    scene.fog = new T.Fog(scene.background, 4 * Math.max(size, ...film.window), 10 * Math.max(size, ...film.window));
    if (scene.userData.ground) scene.userData.ground.color.set(film.color("--earth"));
    pieces.forEach(p => p.set(k, a));
    pivots.forEach(set => set(k, a));
    if (film.shown("ghosts", false)) {
      ghosts ||= [...Array(5)].map(() => film.pieces.map(p => build(p, true)));
      ghosts.forEach((set, j) => { const g = film.frameAt(now - 0.2 * (j + 1)); set.forEach(p => { p.group.visible = now - 0.2 * (j + 1) >= film.t[0]; p.set(g, 0); }); });
    } else if (ghosts) ghosts.flat().forEach(p => { p.group.visible = false; });
    film.pushes.forEach((p, i) => arrows[i](p.at.at(k, a), p.force.at(k, a)));
    marks.forEach(([begin, mark]) => { mark.visible = begin <= now + 1e-6 && film.shown("prints"); });
    if (path) {
      path.visible = com.visible = film.shown("path");
      path.geometry.setDrawRange(0, k + 1);
      com.position.set(...film.com.at(k, a));
    }
    renderer.render(scene, lens);
  };
};

/* What three.js here holds. To build it again, in a directory with this file:
   npm install three@0.187.0 esbuild@0.28.2
   npx esbuild three.entry.js --bundle --minify --format=iife --global-name=THREE --outfile=three.js
   and put back its first line, which names the licence. */
export {
  BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, CircleGeometry, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, ExtrudeGeometry, Fog, Group, HemisphereLight, Line, LineBasicMaterial, Matrix4, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, MeshStandardMaterial, PerspectiveCamera, RepeatWrapping, SRGBColorSpace, Scene, Shape,
  SphereGeometry, Vector3, WebGLRenderer
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

// Builds the console into one page, one script and one style with hashed names; CMake embeds them in the program.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

/** The chart library's licence asks to stand in every copy; minifying drops comments, so it is put before the result. */
function keepLicence() {
  const licence = readFileSync(new URL("node_modules/uplot/LICENSE", import.meta.url), "utf8").trim();
  return {
    name: "keep-licence",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk") {
          file.code = `/*! With uPlot:\n${licence}\n*/\n${file.code}`;
        }
      }
    },
  };
}

export default defineConfig({
  root: "console",
  base: "/",
  plugins: [keepLicence()],
  build: {
    target: "es2022",
    emptyOutDir: true,
    // The page's policy allows files of the server only: no data: addresses, no inline script.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
});

// Builds the reports' script: one classic script, which the program puts into every report.
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    emptyOutDir: true,
    reportCompressedSize: false,
    lib: { entry: "report/main.ts", formats: ["iife"], name: "report", fileName: () => "report.js" },
  },
});

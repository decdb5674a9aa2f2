import type { Stack } from '../stack.ts';
import { clojureStacks } from './clojure.stack.ts';
import { cobolStack } from './cobol.stack.ts';
import { cppStacks } from './cpp.stack.ts';
import { crystalStack } from './crystal.stack.ts';
import { dartStack } from './dart.stack.ts';
import { denoStack } from './deno.stack.ts';
import { dotnetStack } from './dotnet.stack.ts';
import { elixirStack } from './elixir.stack.ts';
import { gleamStack } from './gleam.stack.ts';
import { goStack } from './go.stack.ts';
import { haskellStack } from './haskell.stack.ts';
import { javaStack } from './java/java.stack.ts';
import { nodeStack } from './node/node.stack.ts';
import { phpStack } from './php/php.stack.ts';
import { pythonStack } from './python/python.stack.ts';
import { rubyStack } from './ruby/ruby.stack.ts';
import { rustStack } from './rust.stack.ts';
import { scalaStack } from './scala.stack.ts';
import { schemeStack } from './scheme.stack.ts';
import { shellStack } from './shell.stack.ts';
import { siteGeneratorStack } from './site-generator.stack.ts';
import { staticStack } from './static.stack.ts';
import { swiftStack } from './swift.stack.ts';
import { zigStack } from './zig.stack.ts';

/** Between two equally sure signs the earlier language wins: the later ones are more often somebody else's tools. */
export const allStacks: readonly Stack[] = [
  denoStack,
  phpStack,
  goStack,
  ...clojureStacks,
  scalaStack,
  javaStack,
  rustStack,
  rubyStack,
  elixirStack,
  gleamStack,
  pythonStack,
  dotnetStack,
  dartStack,
  swiftStack,
  crystalStack,
  zigStack,
  haskellStack,
  nodeStack,
  cobolStack,
  ...cppStacks,
  schemeStack,
  siteGeneratorStack,
  staticStack,
  shellStack,
];

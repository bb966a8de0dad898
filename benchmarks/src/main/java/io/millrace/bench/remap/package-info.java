/** What a URL costs before anything is looked up: its key, and the rules that hold for it. */
@NullMarked
package io.millrace.bench.remap;

import org.jspecify.annotations.NullMarked;

/** Reads and writes the records of WARC files (ISO 28500, version 1.1). */
@NullMarked
package io.millrace.cli.warc;

import org.jspecify.annotations.NullMarked;

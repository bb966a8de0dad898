/** WARC files (ISO 28500, version 1.1): writing and reading of records. Independent of commands. */
@NullMarked
package io.millrace.cli.warc;

import org.jspecify.annotations.NullMarked;

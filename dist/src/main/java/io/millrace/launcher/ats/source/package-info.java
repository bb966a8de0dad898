/** Traffic Server's files, read line by line: words, YAML, records, quantities, and the outcome of each line. */
@NullMarked
package io.millrace.launcher.ats.source;

import org.jspecify.annotations.NullMarked;

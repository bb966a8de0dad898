/** Parses the letters of Via fields. */
@NullMarked
package io.millrace.cli.via;

import org.jspecify.annotations.NullMarked;

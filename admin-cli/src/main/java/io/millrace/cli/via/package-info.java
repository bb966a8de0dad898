/** Reads the letters of Via. */
@NullMarked
package io.millrace.cli.via;

import org.jspecify.annotations.NullMarked;

/** Formats replies of the admin API as text: pure functions from a JSON object to lines. */
@NullMarked
package io.millrace.cli.render;

import org.jspecify.annotations.NullMarked;

/** Formats responses of the admin API as text. The classes are pure functions from a JSON object to lines. */
@NullMarked
package io.millrace.cli.render;

import org.jspecify.annotations.NullMarked;

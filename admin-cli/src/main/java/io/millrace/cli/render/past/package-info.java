/** Formats recorded events and figures of the past as text. */
@NullMarked
package io.millrace.cli.render.past;

import org.jspecify.annotations.NullMarked;

/** Formats results about the fleet as text. */
@NullMarked
package io.millrace.cli.render.fleet;

import org.jspecify.annotations.NullMarked;

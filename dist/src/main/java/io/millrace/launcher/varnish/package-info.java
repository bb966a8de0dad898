/**
 * Imports a VCL file of Varnish into a single {@code millrace.yaml}. Every declaration and statement is listed in a
 * report, with the resulting keys or the reason why there are none.
 */
@NullMarked
package io.millrace.launcher.varnish;

import org.jspecify.annotations.NullMarked;

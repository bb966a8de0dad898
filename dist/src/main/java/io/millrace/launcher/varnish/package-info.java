/**
 * The importer of a VCL file of Varnish into one {@code millrace.yaml}. A report lists every declaration and statement
 * with the resulting keys, or with the reason why there are none.
 */
@NullMarked
package io.millrace.launcher.varnish;

import org.jspecify.annotations.NullMarked;

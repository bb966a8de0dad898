/**
 * The importer of a VCL file of Varnish into one {@code millrace.yaml}. A report lists every declaration and statement
 * with the resulting keys, or with the reason why there are none. {@code VarnishImport} reads the file and calls one
 * translator for each part: {@code VclRecv}, {@code VclBackendResponse}, {@code Backends} for backends and directors,
 * {@code FieldRules} and {@code SynthRules} for statements that become {@code rules}. Support for a new
 * statement belongs in the translator of its subroutine. {@code VarnishImport} translates the subroutines that have no
 * translator of their own, such as {@code vcl_hash}.
 */
@NullMarked
package io.millrace.launcher.varnish;

import org.jspecify.annotations.NullMarked;

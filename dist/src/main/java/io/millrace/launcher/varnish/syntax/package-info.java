/** The parser of VCL files: tokens, declarations, statements and conditions. */
@NullMarked
package io.millrace.launcher.varnish.syntax;

import org.jspecify.annotations.NullMarked;

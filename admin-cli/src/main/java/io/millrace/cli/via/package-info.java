/** Parses the diagnostic letters that Millrace and Traffic Server write into the Via header field. */
@NullMarked
package io.millrace.cli.via;

import org.jspecify.annotations.NullMarked;

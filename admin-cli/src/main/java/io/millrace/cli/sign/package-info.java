/** Signatures of URLs, for {@code millctl sign}. */
@NullMarked
package io.millrace.cli.sign;

import org.jspecify.annotations.NullMarked;

/** The parts of a support bundle: redaction of texts, and the archive. Without picocli and the admin API. */
@NullMarked
package io.millrace.cli.bundle;

import org.jspecify.annotations.NullMarked;

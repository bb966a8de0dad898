/** Removes secrets from the texts of a support bundle, and writes its archive. */
@NullMarked
package io.millrace.cli.bundle;

import org.jspecify.annotations.NullMarked;

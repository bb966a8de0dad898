/**
 * Reads a configuration directory of Traffic Server and writes what it says as one {@code millrace.yaml}. Every line that was read ends
 * in a report, as what it became or with the reason why it became nothing. Nothing here starts, binds or changes anything.
 */
@NullMarked
package io.millrace.launcher.ats;

import org.jspecify.annotations.NullMarked;

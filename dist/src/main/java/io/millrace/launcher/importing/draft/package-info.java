/** The configuration that an import builds, and its text. */
@NullMarked
package io.millrace.launcher.importing.draft;

import org.jspecify.annotations.NullMarked;

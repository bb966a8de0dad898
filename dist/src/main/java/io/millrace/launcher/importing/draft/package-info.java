/** The configuration that an import builds, and its writer. */
@NullMarked
package io.millrace.launcher.importing.draft;

import org.jspecify.annotations.NullMarked;

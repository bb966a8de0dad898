/** The identity of the build: version and commit. */
@NullMarked
package io.millrace.launcher.build;

import org.jspecify.annotations.NullMarked;

/** The configuration that runs: reading, changes and their history. */
@NullMarked
package io.millrace.launcher.config;

import org.jspecify.annotations.NullMarked;

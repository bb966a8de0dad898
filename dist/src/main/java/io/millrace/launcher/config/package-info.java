/** The configuration in force: reading, changes and history. */
@NullMarked
package io.millrace.launcher.config;

import org.jspecify.annotations.NullMarked;

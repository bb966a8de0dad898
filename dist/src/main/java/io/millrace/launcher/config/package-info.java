/** The configuration in the launcher: its reading, changes, history, and the reports about it. */
@NullMarked
package io.millrace.launcher.config;

import org.jspecify.annotations.NullMarked;

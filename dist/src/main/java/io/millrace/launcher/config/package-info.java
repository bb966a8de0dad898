/** The configuration in the launcher: reading, changes, history, and reports for the admin API. */
@NullMarked
package io.millrace.launcher.config;

import org.jspecify.annotations.NullMarked;

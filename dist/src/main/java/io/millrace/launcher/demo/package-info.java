/** The demonstration site of {@code millrace run --demo}, which the launcher serves on loopback. */
@NullMarked
package io.millrace.launcher.demo;

import org.jspecify.annotations.NullMarked;

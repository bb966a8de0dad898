/** The small site behind {@code millrace run --demo}, served on loopback by the launcher. */
@NullMarked
package io.millrace.launcher.demo;

import org.jspecify.annotations.NullMarked;

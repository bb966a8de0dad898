/**
 * Commands that show traffic: access log, metrics, live overview and Via strings.
 */
@NullMarked
package io.millrace.cli.command.traffic;

import org.jspecify.annotations.NullMarked;

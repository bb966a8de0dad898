/** The program {@code millctl}: it asks a running Millrace through its admin HTTP API, and shows what it answers. */
@NullMarked
package io.millrace.cli;

import org.jspecify.annotations.NullMarked;

/** The markup of ESI 1.0: its parser, and the field that announces it. No I/O. */
@NullMarked
package io.millrace.proxy.esi;

import org.jspecify.annotations.NullMarked;

/**
 * Targets of access logs besides files: syslog receivers and journald. Only the sender thread of a log uses its
 * target, and may block. Event loops call no code of this package.
 */
@NullMarked
package io.millrace.proxy.observe.log.target;

import org.jspecify.annotations.NullMarked;

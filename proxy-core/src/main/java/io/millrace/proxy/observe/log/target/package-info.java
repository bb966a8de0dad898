/**
 * Targets of access logs besides files: syslog receivers and journald. Each target belongs to the sender thread of its
 * log, which may block. Nothing here runs on event loops.
 */
@NullMarked
package io.millrace.proxy.observe.log.target;

import org.jspecify.annotations.NullMarked;

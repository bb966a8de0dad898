package io.millrace.proxy.observe.log.target;

import java.nio.file.Path;

/**
 * Settings of messages to journald. Immutable.
 *
 * @param socket path of journald's datagram socket
 * @param severity severity of each message
 * @param identifier SYSLOG_IDENTIFIER of each message
 */
public record JournaldConfig(Path socket, SyslogSeverity severity, String identifier) {}

package io.millrace.proxy.observe.log.target;

import java.nio.file.Path;

/**
 * The settings of an access log that is sent to journald, systemd's log service. Immutable.
 *
 * @param socket path of journald's datagram socket
 * @param severity severity of all messages
 * @param identifier value of the field SYSLOG_IDENTIFIER in all messages
 */
public record JournaldConfig(Path socket, SyslogSeverity severity, String identifier) {}

package io.millrace.launcher.alarm;

import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.event.EventSeverity;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import io.millrace.proxy.observe.log.target.SyslogHead;
import io.millrace.proxy.observe.log.target.SyslogSender;
import io.millrace.proxy.observe.log.target.SyslogSeverity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a syslog message (RFC 5424) for a change of an alarm. While the receiver cannot be reached, sends the message
 * again after 1 s, 2 s, 4 s and so on, at most 30 s apart. Gives up after {@value #TRIES} attempts, which take about
 * five minutes. Confined to one thread, which blocks meanwhile.
 */
final class AlarmMessages implements ActionQueue.Action {
    static final int TRIES = 15;

    private static final Logger LOG = LoggerFactory.getLogger(AlarmMessages.class);
    private static final long WAIT_MAX_SECONDS = 30;

    private final Supplier<AlarmConfig> settings;
    private final String host;
    private final AlarmCommand.Pause pause;

    /** @param settings returns the settings in force */
    AlarmMessages(Supplier<AlarmConfig> settings, AlarmCommand.Pause pause) {
        this.settings = settings;
        this.host = SyslogHead.hostName();
        this.pause = pause;
    }

    @Override
    public void perform(AlarmChange change) throws IOException, InterruptedException {
        long waitSeconds = 1;
        for (int tries = 1; ; tries++) {
            SyslogConfig receiver = settings.get().syslog();
            if (receiver == null) {
                return;
            }
            try {
                SyslogSender.send(
                        receiver,
                        message(receiver, change, host, ProcessHandle.current().pid())
                                .getBytes(StandardCharsets.UTF_8));
                return;
            } catch (IOException e) {
                if (tries == TRIES) {
                    throw new IOException(receiver.address() + " did not accept the message in " + TRIES + " tries", e);
                }
                if (tries == 1) {
                    LOG.warn("alarms.syslog: {}: {}; trying again", receiver.address(), e.toString());
                }
            }
            pause.pass(TimeUnit.SECONDS.toNanos(waitSeconds));
            waitSeconds = Math.min(WAIT_MAX_SECONDS, waitSeconds * 2);
        }
    }

    /** Returns header, structured data and text, without a line feed. */
    static String message(SyslogConfig receiver, AlarmChange change, String host, long processId) {
        Alarm alarm = change.alarm();
        int priority = receiver.facility().code() * 8 + severity(change).code();
        return "<" + priority + ">1 " + Instant.ofEpochMilli(change.atMillis()) + " " + host + " " + receiver.appName()
                + " " + processId + " alarm [" + SyslogHead.STRUCTURED_DATA_ID + " alarm=\""
                + alarm.kind().word() + "\" state=\"" + change.state() + "\" subject=\"" + escaped(alarm.subject())
                + "\" since=\"" + Instant.ofEpochMilli(alarm.sinceMillis()) + "\"] "
                + alarm.kind().word() + " " + change.state() + ": " + alarm.subject() + ": " + alarm.text();
    }

    private static SyslogSeverity severity(AlarmChange change) {
        if (!change.isRaised()) {
            return SyslogSeverity.NOTICE;
        }
        return change.alarm().kind().severity() == EventSeverity.ERROR ? SyslogSeverity.ERR : SyslogSeverity.WARNING;
    }

    /** Escapes the three characters that RFC 5424 s6.3.3 requires. */
    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("]", "\\]");
    }
}

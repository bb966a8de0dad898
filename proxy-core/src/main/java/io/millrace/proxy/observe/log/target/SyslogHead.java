package io.millrace.proxy.observe.log.target;

import io.millrace.proxy.observe.log.LineBuffer;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Writes the header and the structured data of syslog messages (RFC 5424 s6).
 *
 * <pre>
 *   &lt;134>1 2026-11-20T11:00:00.123Z host millrace 4711 access
 *   [millrace@32473 log="all" result="TCP_HIT" status="200"]
 * </pre>
 *
 * <p>The time is the arrival time of the request. Confined to one thread.
 */
public final class SyslogHead implements LineHead {
    /** Name of the structured data. Such names need an enterprise number; 32473 is reserved for examples (RFC 5612). */
    public static final String STRUCTURED_DATA_ID = "millrace@32473";

    private static final int HOST_MAX = 255;
    private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final String beforeTime;
    private final String afterTime;
    private long formattedSecond = Long.MIN_VALUE;
    private String formatted = "";

    /**
     * Creates the header of the messages of one log.
     *
     * @param log name of the log
     * @param sampleRate the number N: the log contains one of N records; 1 if it is not sampled
     * @param host HOSTNAME of the messages
     * @param processId PROCID of the messages
     */
    public SyslogHead(SyslogConfig config, String log, int sampleRate, String host, long processId) {
        beforeTime = "<" + (config.facility().code() * 8 + config.severity().code()) + ">1 ";
        afterTime = "Z " + host + " " + config.appName() + " " + processId + " access [" + STRUCTURED_DATA_ID
                + " log=\"" + log + "\"" + (sampleRate > 1 ? " sample=\"" + sampleRate + "\"" : "") + " result=\"";
    }

    /** Returns this machine's host name in the syntax of HOSTNAME; {@code -} if it is unknown or invalid. */
    public static String hostName() {
        String name;
        try {
            name = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "-";
        }
        boolean valid =
                !name.isEmpty() && name.length() <= HOST_MAX && name.chars().allMatch(c -> c > ' ' && c < 0x7f);
        return valid ? name : "-";
    }

    @Override
    public void append(LoggedRecord logged, LineBuffer out) {
        long millis = logged.receivedAtMillis();
        long second = Math.floorDiv(millis, 1000L);
        if (second != formattedSecond) {
            formattedSecond = second;
            formatted = SECONDS.format(Instant.ofEpochSecond(second));
        }
        out.putAscii(beforeTime);
        out.putAscii(formatted);
        out.put('.');
        out.putDecimal(Math.floorMod(millis, 1000L), 3);
        out.putAscii(afterTime);
        out.putAscii(logged.resultCode());
        out.putAscii("\" status=\"");
        out.putDecimal(logged.status(), 3);
        out.putAscii("\"] ");
    }
}

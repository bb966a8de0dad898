package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LoggedRecord;
import org.jspecify.annotations.Nullable;

/**
 * The values of one record that filter expressions of logs may use. Reused for each record. Confined to one thread at a
 * time.
 */
public final class RecordFacts implements LoggedFacts {
    private @Nullable LoggedRecord current;
    private @Nullable StoredUrl url;
    private boolean isUrlRead;

    /** Sets the record whose values this object returns. */
    public void setRecord(LoggedRecord logged) {
        current = logged;
        url = null;
        isUrlRead = false;
    }

    private LoggedRecord logged() {
        if (current == null) {
            throw new IllegalStateException("setRecord() was not called");
        }
        return current;
    }

    @Override
    public @Nullable StoredUrl url() {
        if (!isUrlRead) {
            isUrlRead = true;
            String text = logged().text(LogField.URL);
            url = text == null ? null : StoredUrl.of(text);
        }
        return url;
    }

    @Override
    public @Nullable String method() {
        return logged().text(LogField.METHOD);
    }

    @Override
    public int status() {
        return logged().status();
    }

    @Override
    public int originStatus() {
        return logged().originStatus();
    }

    @Override
    public String cache() {
        return logged().cacheResult().word();
    }

    @Override
    public String result() {
        return logged().resultCode();
    }

    @Override
    public @Nullable String client() {
        return logged().clientText();
    }

    @Override
    public long bytes() {
        return logged().headBytes() + logged().bodyBytes();
    }

    @Override
    public long bodyBytes() {
        return logged().bodyBytes();
    }

    @Override
    public long durationNanos() {
        return logged().durationNanos();
    }

    @Override
    public long firstByteNanos() {
        return logged().firstByteNanos();
    }

    @Override
    public @Nullable String protocol() {
        return protocol(logged().majorVersion(), logged().minorVersion());
    }

    @Override
    public @Nullable String originProtocol() {
        return protocol(logged().originMajorVersion(), logged().originMinorVersion());
    }

    private static @Nullable String protocol(int major, int minor) {
        return major == 0 ? null : "HTTP/" + major + "." + minor;
    }

    @Override
    public @Nullable String origin() {
        return logged().text(LogField.ORIGIN_HOST);
    }

    @Override
    public @Nullable String contentType() {
        return logged().text(LogField.CONTENT_TYPE);
    }

    @Override
    public @Nullable String tls() {
        return logged().text(LogField.TLS_VERSION);
    }

    @Override
    public @Nullable String serverName() {
        return logged().text(LogField.TLS_SERVER_NAME);
    }

    @Override
    public @Nullable String referer() {
        return logged().text(LogField.REFERER);
    }

    @Override
    public @Nullable String userAgent() {
        return logged().text(LogField.USER_AGENT);
    }

    @Override
    public @Nullable String traceId() {
        return logged().text(LogField.TRACE_ID);
    }

    @Override
    public @Nullable String detail() {
        return logged().text(LogField.DETAIL);
    }
}

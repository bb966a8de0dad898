package io.millrace.proxy.extension;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.remap.RemapRule;
import io.millrace.proxy.spi.Attribute;
import io.millrace.proxy.spi.Fields;
import io.millrace.proxy.spi.RequestView;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * The view of a client's request for extensions, valid between {@link #begin} and {@link #end}.
 *
 * <p>Confined to one event loop.
 */
final class ClientRequest implements RequestView {
    private final ClientConnection client;
    private final AccessRules access;
    private final RemapRule rule;
    private final long contentLength;
    private final AttributeValues attributes = new AttributeValues();
    private @Nullable RequestHead head;

    private final FieldsView fields = new FieldsView() {
        @Override
        FieldSection section() {
            return head().fields();
        }
    };

    /** @param contentLength in bytes; {@link RequestReceiver#CHUNKED} if it is unknown */
    ClientRequest(ClientConnection client, AccessRules access, RemapRule rule, long contentLength) {
        this.client = client;
        this.access = access;
        this.rule = rule;
        this.contentLength = contentLength;
    }

    /** Begins a call of a hook. Borrows the head until {@link #end}. */
    ClientRequest begin(RequestHead request) {
        head = request;
        return this;
    }

    void end() {
        head = null;
    }

    private RequestHead head() {
        RequestHead now = head;
        if (now == null) {
            throw new IllegalStateException("the request is valid only during the call of the hook");
        }
        return now;
    }

    @Override
    public String method() {
        return head().methodName();
    }

    @Override
    public String scheme() {
        return head().target().scheme();
    }

    @Override
    public String host() {
        return head().target().host();
    }

    @Override
    public int port() {
        return head().target().port();
    }

    @Override
    public String path() {
        return head().target().path();
    }

    @Override
    public @Nullable String query() {
        return head().target().query();
    }

    @Override
    public String protocol() {
        return switch (head().version()) {
            case 0 -> "http/1.0";
            case 1 -> "http/1.1";
            default -> "http/2";
        };
    }

    @Override
    public Fields fields() {
        return fields;
    }

    @Override
    public InetAddress clientAddress() {
        IpAddress named = access.namedClient(head(), client.remoteIp());
        try {
            return named == null ? client.remoteAddress().getAddress() : InetAddress.getByAddress(named.bytes());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    @Override
    public boolean isSecure() {
        return client.secure();
    }

    @Override
    public String rule() {
        return rule.config().from().toString();
    }

    @Override
    public long contentLength() {
        return contentLength == RequestReceiver.CHUNKED ? -1 : contentLength;
    }

    @Override
    public <T> @Nullable T get(Attribute<T> attribute) {
        head();
        return attributes.get(attribute);
    }

    @Override
    public <T> void set(Attribute<T> attribute, @Nullable T value) {
        head();
        attributes.set(attribute, value);
    }

    /** The attributes of one request, or of one response of an origin. Confined to one event loop. */
    static final class AttributeValues {
        /** Limit of the attributes of a message. */
        static final int COUNT_MAX = 64;

        private @Nullable Object[] keysAndValues = {};

        @SuppressWarnings("unchecked") // set() takes a value of the key's type
        <T> @Nullable T get(Attribute<T> key) {
            for (int i = 0; i < keysAndValues.length; i += 2) {
                if (keysAndValues[i] == key) {
                    return (T) keysAndValues[i + 1];
                }
            }
            return null;
        }

        <T> void set(Attribute<T> key, @Nullable T value) {
            int free = -1;
            for (int i = 0; i < keysAndValues.length; i += 2) {
                if (keysAndValues[i] == key) {
                    keysAndValues[i] = value == null ? null : key;
                    keysAndValues[i + 1] = value;
                    return;
                }
                if (keysAndValues[i] == null) {
                    free = i;
                }
            }
            if (value == null) {
                return;
            }
            if (free < 0) {
                free = keysAndValues.length;
                if (free == 2 * COUNT_MAX) {
                    throw new HookLimitException("attributes of a message: limit=" + COUNT_MAX);
                }
                @Nullable Object[] more = new Object[Math.max(8, 2 * free)];
                System.arraycopy(keysAndValues, 0, more, 0, free);
                keysAndValues = more;
            }
            keysAndValues[free] = key;
            keysAndValues[free + 1] = value;
        }
    }
}

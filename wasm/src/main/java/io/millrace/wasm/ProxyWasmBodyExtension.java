package io.millrace.wasm;

import io.millrace.proxy.spi.Attribute;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.OriginResponseView;
import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.body.BodyBuffer;
import java.util.Map;

/**
 * A {@link ProxyWasmOriginExtension} whose module also reads and changes the content of responses before it is stored.
 * For remap rules with this extension, the proxy requests whole content without an encoding from the origin. Modules
 * that do not need the content therefore use the other class.
 *
 * <p>Callbacks for content run on threads of the extension, like those for requests.
 */
public final class ProxyWasmBodyExtension extends ProxyWasmOriginExtension implements BodyTransformHook {
    private final Attribute<Map<String, byte[]>> properties = Attribute.of("proxy-wasm-body");

    /** Creates an extension that is not open. */
    public ProxyWasmBodyExtension() {}

    @Override
    public String name() {
        return "wasm-body";
    }

    @Override
    boolean transformsBodies() {
        return true;
    }

    @Override
    void responded(OriginResponseView response, HttpContext message) {
        if (!message.properties().isEmpty()) {
            response.set(properties, message.properties());
        }
    }

    @Override
    public Transform bodyTransform(OriginResponseView response) {
        WasmFilter open = filter();
        HeaderMap fields = fields(response);
        Map<String, byte[]> propertiesOfFields = response.get(properties);
        BodyBuffer body = new BodyBuffer(
                open.shared().settings().bodyBytesMax(), open.shared().bodies());
        HttpContext message = HttpContext.ofBody(
                new HttpContext.Response(response.status(), fields, "", response.url()),
                propertiesOfFields == null ? Map.of() : propertiesOfFields,
                body);
        return new WasmBody(open, message, body);
    }
}

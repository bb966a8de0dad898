package io.millrace.examples.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.proxy.cache.PurgeResult;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.Extension;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.RequestView;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.CacheControl;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A small application of Spring Boot, whose responses {@link CachingProxy} stores. */
@SpringBootApplication
public class ShopApplication {
    @Bean
    MeterRegistry meters() {
        return new SimpleMeterRegistry();
    }

    /** The prices of the shop. */
    @RestController
    static class Prices {
        private final CachingProxy proxy;
        private final AtomicInteger requests = new AtomicInteger();
        private volatile String price = "10";

        Prices(CachingProxy proxy) {
            this.proxy = proxy;
        }

        @GetMapping("/price")
        ResponseEntity<String> price() {
            return ResponseEntity.ok()
                    .cacheControl(CacheControl.maxAge(10, TimeUnit.MINUTES))
                    .header("Surrogate-Key", "price")
                    .body(price + " at request " + requests.incrementAndGet());
        }

        /** Changes the price; the response is sent when no client gets the old one any more. */
        @PostMapping("/price")
        CompletionStage<String> change(@RequestParam("value") String value) {
            price = value;
            return proxy.purge("price").thenApply(PurgeResult::target);
        }
    }

    /** An extension is a bean as any other. */
    @Component
    static class ShopName implements Extension, DeliverHook {
        @Override
        public int apiVersion() {
            return API_VERSION;
        }

        @Override
        public String name() {
            return "shop";
        }

        @Override
        public void open(ExtensionContext context) {}

        @Override
        public Map<String, String> constantFields() {
            return Map.of("X-Shop", "corner");
        }

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            // The proxy sets the constant fields.
        }
    }
}

package io.millrace.proxy;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/**
 * A test that changes one key of the catalogue in a running {@link LiveProxy} and observes the effect. It runs twice
 * for a key that rules may set: with the global value, and with the value in the rules.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@TestTemplate
@ExtendWith(LiveKey.Places.class)
@interface LiveKey {
    /** The key's path. */
    String value();

    /** The place of the value. */
    enum Place {
        FOR_ALL("for all"),
        IN_RULES("in rules");

        private static final Namespace STORE = Namespace.create(Place.class);

        private final String text;

        Place(String text) {
            this.text = text;
        }

        /** Returns the place in the running test. */
        static Place of(ExtensionContext context) {
            return context.getStore(STORE).get(Place.class, Place.class);
        }

        private TestTemplateInvocationContext invocation(String key) {
            return new TestTemplateInvocationContext() {
                @Override
                public String getDisplayName(int index) {
                    return key + " " + text;
                }

                @Override
                public List<Extension> getAdditionalExtensions() {
                    BeforeEachCallback said = context -> context.getStore(STORE).put(Place.class, Place.this);
                    return List.of(said);
                }
            };
        }
    }

    /** Creates a test for each place. */
    final class Places implements TestTemplateInvocationContextProvider {
        @Override
        public boolean supportsTestTemplate(ExtensionContext context) {
            return true;
        }

        @Override
        public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
            String path =
                    context.getRequiredTestMethod().getAnnotation(LiveKey.class).value();
            ConfigKey<?> key = ConfigCatalog.find(path);
            if (key == null) {
                throw new IllegalArgumentException("no such key: " + path);
            }
            Stream<Place> places =
                    key.isPerRule() ? Stream.of(Place.FOR_ALL, Place.IN_RULES) : Stream.of(Place.FOR_ALL);
            return places.map(place -> place.invocation(path));
        }
    }
}

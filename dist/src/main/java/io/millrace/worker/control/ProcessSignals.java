package io.millrace.worker.control;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Signals of the operating system. The class of the JDK that hears them is public but unsupported, and naming it does not
 * compile without a warning: so it is reached by name, and a JVM without it simply has no handlers.
 */
public final class ProcessSignals {
    private ProcessSignals() {}

    /**
     * Runs {@code action} on a thread of the JVM whenever the process gets {@code signal} ({@code TERM}, {@code HUP}, ...).
     *
     * @return false when the JVM does not let go of that signal (started with {@code -Xrs}, or unknown here)
     */
    public static boolean handle(String signal, Runnable action) {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object named = signalType.getConstructor(String.class).newInstance(signal);
            Object handler = Proxy.newProxyInstance(
                    ProcessSignals.class.getClassLoader(), new Class<?>[] {handlerType}, new Handler(signal, action));
            signalType.getMethod("handle", signalType, handlerType).invoke(null, named, handler);
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }

    private record Handler(String signal, Runnable action) implements InvocationHandler {
        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) {
            return switch (method.getName()) {
                case "handle" -> {
                    action.run();
                    yield null;
                }
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> "handler of " + signal;
            };
        }
    }
}

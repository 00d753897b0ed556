import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

/** A backend in Java, on port 8000: one page, and a 404 for all others, after which it closes the connection, as Python's does. */
class Server {
    public static void main(String[] arguments) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 8000), 0);
        server.createContext("/", exchange -> {
            boolean isThere = exchange.getRequestURI().getPath().equals("/page.txt");
            byte[] page = (isThere ? "hello\n" : "missing\n").getBytes();
            if (!isThere) exchange.getResponseHeaders().set("Connection", "close");
            exchange.sendResponseHeaders(isThere ? 200 : 404, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
    }
}

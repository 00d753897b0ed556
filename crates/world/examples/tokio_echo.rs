//! A guest for tests: an echo server on tokio and its clients. `tokio_echo serve N` prints its port and serves N
//! connections; `tokio_echo ask PORT N` makes them.
#![allow(clippy::disallowed_methods, reason = "examples use the host")]
#![allow(clippy::print_stdout)]

use std::io::{Result, Write};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

async fn echo(mut stream: TcpStream) -> Result<()> {
    let mut buffer = [0; 64];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            length => stream.write_all(&buffer[..length]).await?,
        }
    }
}

async fn serve(connections: usize) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let (stream, _) = listener.accept().await?;
        tasks.push(tokio::spawn(echo(stream)));
    }
    for task in tasks {
        task.await??;
    }
    Ok(())
}

async fn ask(port: u16, number: usize) -> Result<String> {
    let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", port)).await?);
    let mut answers = String::new();
    for word in ["one", "two", "three"] {
        stream.write_all(format!("{number} {word}\n").as_bytes()).await?;
        stream.read_line(&mut answers).await?;
    }
    Ok(answers.replace('\n', ";"))
}

async fn ask_all(port: u16, clients: usize) -> Result<()> {
    let tasks: Vec<_> = (0..clients).map(|number| tokio::spawn(ask(port, number))).collect();
    for task in tasks {
        println!("{}", task.await??);
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(1);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_io().build()?;
    match arguments.get(1).map(String::as_str) {
        Some("serve") => runtime.block_on(serve(number(2))),
        _ => runtime.block_on(ask_all(number(2) as u16, number(3))),
    }
}
